"""Event Stream and N-MNIST."""
