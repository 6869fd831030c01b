"""The register: schema `work`, the operator's memory. The only SQL of the operator."""
