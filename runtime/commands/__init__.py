"""The runtime's commands: found by the command line through the entry-point group `falsework.commands`."""
