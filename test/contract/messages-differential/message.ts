/** A block of a message, with the fields that are compared. */
export interface Block {
  type: string;
  text?: string;
  thinking?: string;
  name?: string;
  input?: unknown;
}

/** A message or an error. */
export interface Message {
  id?: string;
  type?: string;
  content?: Block[];
  stop_reason?: string | null;
  stop_sequence?: string | null;
  usage?: Record<string, unknown>;
  error?: { type?: string };
}

/** The data of an event of a stream. */
export interface MessageEvent {
  type?: string;
  index?: number;
  message?: Message;
  content_block?: Block;
  delta?: Message & { type?: string; text?: string; thinking?: string; partial_json?: string };
  usage?: Record<string, unknown>;
  error?: { type?: string };
}
