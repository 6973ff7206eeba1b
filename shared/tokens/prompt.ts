/** A call that the model made, as its chat template gets it. */
export interface PromptToolCall {
  id: string;
  type: 'function';
  /** `arguments` is the text of a JSON object. */
  function: { name: string; arguments: string };
}

/** A message in the words of the runtime. */
export interface PromptMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  name?: string;
  reasoning?: string;
  tool_call_id?: string;
  tool_calls?: PromptToolCall[];
}

/** Everything that a chat template renders into the model's prompt. */
export interface ChatPrompt {
  messages: PromptMessage[];
  tools?: Record<string, unknown>[];
  /** More variables of the template, as `chat_template_kwargs` has them. */
  variables?: Record<string, unknown>;
}

/** Texts that go to the model as they are: text, or the ids of its tokens. Each is answered by itself. */
export interface TextPrompt {
  texts: (string | number[])[];
}

/** What a model is asked with. */
export type Prompt = ChatPrompt | TextPrompt;
