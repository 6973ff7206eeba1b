/** Shows what a program is doing. */
export interface Progress {
  /**
   * Shows the name of some work while it is done, and afterwards how long it took. Nothing more is shown if it fails.
   */
  during<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Prints a line. */
  log(line: string): void;
  /** Ends the display of what is not done yet. */
  close(): void;
}

/** Where the progress is shown: a stream such as stdout. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const FRAME_MS = 100;
const CLEAR_LINE = '\r\x1b[K';
const NAME_COLUMNS = 34;
const DEFAULT_COLUMNS = 80;

const secondsSince = (startMs: number): string => `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;

const plainProgress = (output: Output): Progress => ({
  async during(name, work) {
    output.write(`${name} ...\n`);
    const startMs = performance.now();
    const result = await work();
    output.write(`${name}: ${secondsSince(startMs)}\n`);
    return result;
  },
  log: (line) => void output.write(`${line}\n`),
  close: () => undefined,
});

const spinner = (output: Output): Progress => {
  const current = new Map<object, { name: string; startMs: number }>();
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    const [first] = current.values();
    if (!first) return;
    frame = (frame + 1) % FRAMES.length;
    const names = [...current.values()].map(({ name }) => name).join(', ');
    const line = `${FRAMES[frame]} ${names} ${secondsSince(first.startMs)}`;
    output.write(CLEAR_LINE + line.slice(0, (output.columns ?? DEFAULT_COLUMNS) - 1));
  };
  const close = (): void => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    current.clear();
    output.write(CLEAR_LINE);
  };
  const log = (line: string): void => {
    output.write(`${timer === undefined ? '' : CLEAR_LINE}${line}\n`);
    draw();
  };
  return {
    async during(name, work) {
      const id = {};
      const startMs = performance.now();
      current.set(id, { name, startMs });
      timer ??= setInterval(draw, FRAME_MS).unref();
      draw();
      try {
        const result = await work();
        current.delete(id);
        log(`✓ ${name.padEnd(NAME_COLUMNS)} ${secondsSince(startMs)}`);
        return result;
      } finally {
        current.delete(id);
        if (current.size === 0) close();
      }
    },
    log,
    close,
  };
};

/** Shows nothing but the lines that are logged. */
export const silentProgress: Progress = {
  during: (_name, work) => work(),
  log: (line) => console.log(line),
  close: () => undefined,
};

/** Shows a spinner on a terminal, and plain lines in a pipe or a file. */
export const createProgress = (output: Output): Progress =>
  output.isTTY && process.env.TERM !== 'dumb' ? spinner(output) : plainProgress(output);
