/** The part of an inference component that Application Auto Scaling reads and changes. */
export interface ScalableComponent {
  /** True if it accepts a change of its copies. */
  isIdle: boolean;
  desiredCopies: number;
  /** Copies that receive invocations. */
  currentCopies: number;
  /** Invocations in progress. */
  concurrency: number;
}

export interface ScalableComponents {
  /** undefined: it does not exist. */
  find(name: string): ScalableComponent | undefined;
  setDesiredCopies(name: string, copies: number): void;
}

/** How long conditions must hold. */
export interface ScalingTimes {
  scale_out_ms: number;
  scale_in_ms: number;
  restore_capacity_ms: number;
}
