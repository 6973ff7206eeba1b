/** A tool call of the model, as its chat template gets it. */
export interface PromptToolCall {
  id: string;
  type: 'function';
  /** `arguments` is the text of a JSON object. */
  function: { name: string; arguments: string };
}

/** A message in the runtime's format. */
export interface PromptMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  name?: string;
  reasoning?: string;
  tool_call_id?: string;
  tool_calls?: PromptToolCall[];
}

/** The input of a chat template, which renders it to the model's prompt. */
export interface ChatPrompt {
  messages: PromptMessage[];
  /** The model continues the last message, which is the assistant's, instead of beginning one. */
  continues?: true;
  /**
   * The tools as the runtime gives them to its chat template: the text of a JSON array, so that numbers keep their
   * form.
   */
  tools?: string;
  /** More variables of the template, as `chat_template_kwargs` has them. */
  variables?: Record<string, unknown>;
}

/** Prompts that are sent to the model as they are, as text or token ids. Each is completed separately. */
export interface TextPrompt {
  texts: (string | number[])[];
  /** Read by the model with each of the texts, such as the query of a rerank request. */
  pairedWith?: string;
}

export type Prompt = ChatPrompt | TextPrompt;
