type OutputText = {
  type: 'output_text';
  text: string;
  annotations: never[];
  logprobs: unknown[];
};

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export type OutputMessage = {
  id: string;
  type: 'message';
  status: ItemStatus;
  role: 'assistant';
  content: OutputText[];
};

export type OutputReasoning = {
  id: string;
  type: 'reasoning';
  status: ItemStatus;
  summary: { type: 'summary_text'; text: string }[];
  content?: { type: 'reasoning_text'; text: string }[];
  encrypted_content?: string;
};

export type OutputCall = {
  id: string;
  type: 'function_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  namespace?: string;
  arguments: string;
};

export type OutputCustomCall = {
  id: string;
  type: 'custom_tool_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
};

export type OutputToolSearchCall = {
  id: string;
  type: 'tool_search_call';
  status: ItemStatus;
  call_id: string;
  execution: 'client';
  arguments: Record<string, unknown>;
};

export type OutputLocalShellCall = {
  id: string;
  type: 'local_shell_call';
  status: ItemStatus;
  call_id: string;
  action: {
    type: 'exec';
    command: string[];
    timeout_ms: number | null;
    working_directory: string | null;
    env: Record<string, string>;
    user: string | null;
  };
};

export type OutputCompaction = {
  id: string;
  type: 'compaction';
  encrypted_content: string;
};

export type OutputItem =
  | OutputMessage
  | OutputReasoning
  | OutputCall
  | OutputCustomCall
  | OutputToolSearchCall
  | OutputLocalShellCall
  | OutputCompaction;

/** An event of a stream, without its sequence number. */
export interface ItemEvent {
  type: `response.${string}`;
  [key: string]: unknown;
}

/** An item that is still being written. `begin`, `add` (for more text) and `finish` return the events to send. */
export interface OpenItem {
  item: OutputItem;
  begin: () => ItemEvent[];
  add: (text: string, logprobs?: readonly unknown[]) => ItemEvent[];
  finish: (status: ItemStatus) => ItemEvent[];
}

/** A response on the wire (interface 2.5, and every key of OpenAI's). */
export interface ResponseObject extends Record<string, unknown> {
  id: string;
  output: readonly OutputItem[];
}
