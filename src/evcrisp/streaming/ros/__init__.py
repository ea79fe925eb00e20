"""ROS 2 messages of events over zenoh and DDS."""
