import { Agent } from 'node:http';
import { exchange } from '../bench/lib/exchange.ts';
import { type Bound, keepInFlight } from '../bench/lib/keep-in-flight.ts';
import { type Fault, faultIf } from './faults.ts';
import { createMeter, type Measured } from './meter.ts';
import { bareBody, invokesModel, MIX, type Question, routes } from './question.ts';
import { readReply } from './read-reply.ts';

const SILENCE_MS = 60_000;
const CALLERS = 16;
// Most seeds of a small model give a text that no other seed gives.
const MAX_SEEDS = 50;

// As SageMaker calls the container.
const pathOf = ({ route }: Pick<Question, 'route'>): string => (route === 'tokenize' ? routes.tokenize.path : '/invocations');

const askContainer = async (containerUrl: string, question: Omit<Question, 'expected'>, agent: Agent) => {
  const url = containerUrl + pathOf(question);
  const reply = await exchange({ method: 'POST', url, headers: {}, body: bareBody(question) }, agent, SILENCE_MS);
  if (reply.status !== 200) throw new Error(`The container replied ${reply.status}: ${reply.text}`);
  // It answers the question of a response as a chat.
  const route = question.route === 'responses' ? 'chat' : question.route;
  return { reply, content: readReply({ ...question, route }, reply.text) };
};

const isSeeded = ({ route }: Pick<Question, 'route'>): boolean => route === 'chat' || route === 'completions';

/**
 * Makes questions in the proportions of the mix, each with the reply that the model alone gives. No two seeded
 * questions have the same one.
 * @param modelList what the host replies to the route of models
 */
export const makeQuestions = async (
  containerUrl: string,
  { count, maxTokens, modelList }: { count: number; maxTokens: number; modelList: string },
): Promise<Question[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const texts = new Set<string>();
  const make = async (number: number): Promise<Question> => {
    const [route, isStream] = MIX[number % MIX.length] as (typeof MIX)[number];
    for (let attempt = 0; attempt < MAX_SEEDS; attempt += 1) {
      const asked = { route, isStream, seed: number + attempt * count, maxTokens };
      if (route === 'models') return { ...asked, expected: { text: modelList, tokens: { prompt: 0, completion: 0 } } };
      const { content } = await askContainer(containerUrl, asked, agent);
      const isUsable = content.text.length > 0 && !(isSeeded(asked) && texts.has(content.text));
      if (isUsable) texts.add(content.text);
      if (isUsable) return { ...asked, expected: { text: content.text, tokens: content.tokens ?? { prompt: 0, completion: 0 } } };
    }
    throw new Error(`${MAX_SEEDS} seeds gave no text of its own for question ${number}.`);
  };
  const questions: Question[] = [];
  await keepInFlight(CALLERS, { requests: count }, async (number) => {
    questions[number] = await make(number);
  });
  agent.destroy();
  return questions;
};

/**
 * The same load on the container alone, without the routes that don't invoke the model. Its replies are compared too.
 */
export const measureModel = async (
  containerUrl: string,
  questions: readonly Question[],
  { callers, bound, rampMs }: { callers: number; bound: Bound; rampMs: number },
): Promise<{ measured: Measured; faults: Fault[] }> => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const invoking = questions.filter(({ route }) => invokesModel(route));
  const faults: Fault[] = [];
  const meter = createMeter();
  const elapsedMs = await keepInFlight(
    callers,
    bound,
    async (number) => {
      const question = invoking[number % invoking.length] as Question;
      const { reply, content } = await meter.during(question, () => askContainer(containerUrl, question, agent));
      faults.push(...faultIf(content.text !== question.expected.text, 'crossed', `the container alone: “${content.text}”`));
      meter.add(question, reply, question.expected.tokens.completion);
    },
    rampMs,
  );
  agent.destroy();
  return { measured: meter.result(elapsedMs), faults };
};
