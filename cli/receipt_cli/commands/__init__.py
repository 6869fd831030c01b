"""The command line's surface: names, flags, help. Each command hands over to its flow."""
