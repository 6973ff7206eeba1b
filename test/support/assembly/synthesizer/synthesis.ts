/** One assembly to synthesize. */
export interface Synthesis {
  number: number;
  outputFolder: string;
  context: Readonly<Record<string, unknown>>;
  /** A folder for the bundles of these sources. */
  bundles: string | undefined;
}

/** The end of a synthesis. `errors` is the app's error output if it failed. */
export interface SynthesisEnd {
  number: number;
  errors: string | null;
}
