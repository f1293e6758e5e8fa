"""What ``motionpred doctor`` looks at: packages, imports, the accelerator, the machine."""
