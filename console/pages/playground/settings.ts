import type { Model } from './model-choice.ts';

/** The settings of each request of the playground, as they are typed. An empty text: the model's default. */
export interface Settings {
  system: string;
  temperature: string;
  topP: string;
  maxTokens: string;
  /** One in each line. */
  stop: string;
  effort: Effort | '';
  isJson: boolean;
}

export type Effort = 'none' | 'low' | 'medium' | 'high';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export const EMPTY_SETTINGS: Settings = { system: '', temperature: '', topP: '', maxTokens: '', stop: '', effort: '', isJson: false };

const MAX_TEMPERATURE = 2;
const MAX_STOPS = 4;
const MAX_STOP_CHARACTERS = 256;

const isDecimal = (text: string, max: number): boolean => /^\d+(\.\d+)?$/.test(text) && Number(text) <= max;

const stopsIn = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const RULES: readonly (readonly [name: keyof Settings, isRight: (text: string) => boolean, fault: string])[] = [
  ['temperature', (text) => isDecimal(text, MAX_TEMPERATURE), 'Enter a number from 0 to 2.'],
  ['topP', (text) => isDecimal(text, 1), 'Enter a number from 0 to 1.'],
  ['maxTokens', (text) => /^[1-9]\d{0,8}$/.test(text), 'Enter a whole number, at least 1.'],
  [
    'stop',
    (text) => stopsIn(text).length <= MAX_STOPS && stopsIn(text).every((line) => line.length <= MAX_STOP_CHARACTERS),
    'Enter at most 4 lines of at most 256 characters.',
  ],
];

/** Why settings can't be sent. */
export const faultsOf = (settings: Settings): Partial<Record<keyof Settings, string>> =>
  Object.fromEntries(
    RULES.filter(([name, isRight]) => settings[name] !== '' && !isRight(String(settings[name]))).map(([name, , fault]) => [name, fault]),
  );

/** The body of a request. JSON mode is left out for models that don't support it. */
export const bodyOf = (model: Pick<Model, 'name' | 'capabilities'>, messages: readonly Message[], settings: Settings) => {
  const { system, temperature, topP, maxTokens, stop, effort, isJson } = settings;
  const stops = stopsIn(stop);
  return {
    model: model.name,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]), ...messages].map((one) => ({ ...one })),
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(topP !== '' && { top_p: Number(topP) }),
    ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
    ...(stops.length > 0 && { stop: stops }),
    ...(effort !== '' && { reasoning_effort: effort }),
    ...(isJson && model.capabilities.json_object && { response_format: { type: 'json_object' } }),
    stream: true,
    stream_options: { include_usage: true },
  };
};

export type ChatBody = ReturnType<typeof bodyOf>;
