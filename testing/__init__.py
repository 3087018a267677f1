"""Code that tests and benchmarks share: servers on loopback, made-up runs, small ONNX models."""
