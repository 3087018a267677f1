"""What tests and benchmarks share: servers on loopback and small ONNX models."""
