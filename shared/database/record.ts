/** The key of a row: both attributes are strings. */
export interface RecordKey {
  account: string;
  record: string;
}

/** The attributes of a row, as a store writes and reads them. */
export type RecordRow = Record<string, unknown>;

/** A temporary claim of a row: its owner and its time. */
export interface RecordClaim {
  claim: string;
  nowMs: number;
}
