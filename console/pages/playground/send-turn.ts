import type { ReplyBody } from '../../client/routes.ts';
import { messagesFor, type SentRequest, SIDES, type Side, type Turn } from './conversation.ts';
import { changeConversation } from './conversation-store.ts';
import type { Model } from './model-choice.ts';
import { sendRequest } from './send-request.ts';
import { bodyOf, type Message, type Settings } from './settings.ts';

/** The models that answer. */
export type Chosen = Readonly<Record<Side, Model | undefined>>;

/** The sender of requests, their host, and their settings besides the messages. */
export interface Sender {
  chosen: Chosen;
  settings: Settings;
  turns: readonly Turn[];
  configuration: ReplyBody<'GET /v1/console/configuration'>;
  userId: string;
  /** For users of the platform: the organization that pays. */
  organization: string | undefined;
}

// The on-demand host needs the id of an end user, and sends them to the same target again.
const endUser = crypto.randomUUID();

const requestOf = ({ settings, configuration }: Sender, model: Model, messages: readonly Message[]): SentRequest => {
  const body = bodyOf(model, messages, settings);
  return model.organization === null
    ? { baseUrl: configuration.base_url, body }
    : { baseUrl: configuration.on_demand_base_url, headers: { 'x-user-id': endUser }, body };
};

/** Gets one model's answer to a turn, again if it gave one before. */
export const sendAgain = (sender: Sender, turn: Turn, side: Side): void => {
  const { chosen, turns, userId, organization } = sender;
  const { [side]: model } = chosen;
  if (!model) return;
  const earlier = turns.slice(0, turns.indexOf(turn));
  void sendRequest({
    turnId: turn.id,
    side,
    request: requestOf(sender, model, messagesFor(earlier, side, turn.text)),
    place: { userId, scope: model.organization === null ? 'serverless' : 'on_demand', organization },
  });
};

/** Sends a message to the chosen models. */
export const sendMessage = (sender: Sender, text: string): void => {
  const turn: Turn = { id: crypto.randomUUID(), text, answers: {} };
  const turns = [...sender.turns, turn];
  changeConversation({ draft: '', turns });
  for (const side of SIDES) sendAgain({ ...sender, turns }, turn, side);
};
