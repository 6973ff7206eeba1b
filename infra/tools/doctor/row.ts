import { adviceOn } from '../aws-failure.ts';

/** How a check ended. Only a failure makes the command fail. */
export type Status = 'ok' | 'warning' | 'failure' | 'skipped';

/** One row of the report. */
export interface Row {
  check: string;
  status: Status;
  /** The state that the check found. */
  found: string;
  /** The next step for the operator; empty if there is none. */
  advice: string;
}

export const ok = (check: string, found: string): Row => ({ check, status: 'ok', found, advice: '' });
export const warning = (check: string, found: string, advice: string): Row => ({ check, status: 'warning', found, advice });
export const failure = (check: string, found: string, advice: string): Row => ({ check, status: 'failure', found, advice });
export const skipped = (check: string, found: string, advice: string): Row => ({ check, status: 'skipped', found, advice });

/** The rows of a check, or one that says why it could not be made. */
export const attempt = async (check: string, rows: () => Promise<Row[]>, advice: string): Promise<Row[]> => {
  try {
    return await rows();
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
    const known = error instanceof Error ? adviceOn(error) : undefined;
    return [failure(check, `${name}: ${message}`.replaceAll(/\s+/g, ' '), known ?? advice)];
  }
};
