/** One assembly to synthesize. */
export interface Synthesis {
  number: number;
  outputFolder: string;
  context: Readonly<Record<string, unknown>>;
  /** A folder for the bundles of these sources. */
  bundles: string | undefined;
  /** True if the CDK checks the templates, which takes three times as long. */
  isValidated: boolean;
}

/** The end of a synthesis. `errors` is the app's error output if it failed. */
export interface SynthesisEnd {
  number: number;
  errors: string | null;
}

/** Where the server of syntheses listens. */
export interface SynthesisServer {
  /** Without credentials, and the home of the process that synthesizes. */
  folder: string;
  socket: string;
}
