"""What phases show: `policies` (the disclosure policy applied), `costs` (of containers)."""
