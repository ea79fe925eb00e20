"""Methods that the joint estimators are compared with."""
