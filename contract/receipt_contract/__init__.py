"""What the processes agree on: identities, messages, topology, reasons, the two kinds. No I/O."""
