import { useSyncExternalStore } from 'react';
import { sessionState, subscribe as subscribeToSession } from '../../client/session.ts';
import { type Answer, isRunning, type Side, type Turn } from './conversation.ts';
import { EMPTY_SETTINGS, type Settings } from './settings.ts';

// One user's messages and answers in this tab. They are only in memory, so that nobody finds them there later.
interface Conversation {
  userId: string;
  settings: Settings;
  /** The message that is being typed. */
  draft: string;
  turns: readonly Turn[];
}

const emptyFor = (userId: string): Conversation => ({ userId, settings: EMPTY_SETTINGS, draft: '', turns: [] });

let current = emptyFor('');
const listeners = new Set<() => void>();
const running = new Map<string, AbortController>();

const become = (next: Conversation): void => {
  current = next;
  for (const listener of listeners) listener();
};

const answerName = (turnId: string, side: Side): string => `${turnId} ${side}`;

const stopAll = (): void => {
  for (const controller of running.values()) controller.abort();
  running.clear();
};

subscribeToSession(() => {
  if (sessionState() !== 'signed-out') return;
  stopAll();
  become(emptyFor(''));
});

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

// Whoever signs in after another user sees only their own.
const conversationOf = (userId: string): Conversation => {
  if (current.userId !== userId) {
    stopAll();
    current = emptyFor(userId);
  }
  return current;
};

/** The conversation of a user in this tab. It stays while other screens are shown. */
export const useConversation = (userId: string): Conversation => useSyncExternalStore(subscribe, () => conversationOf(userId));

export const changeConversation = (change: Partial<Pick<Conversation, 'draft' | 'turns'>>): void => become({ ...current, ...change });

export const changeSettings = (change: Partial<Settings>): void => become({ ...current, settings: { ...current.settings, ...change } });

/** Ends all answers, and empties the conversation. Settings stay. */
export const clearConversation = (): void => {
  stopAll();
  become({ ...current, turns: [] });
};

/** Changes an answer, unless its turn was removed. */
export const changeAnswer = (turnId: string, side: Side, change: (answer: Answer) => Partial<Answer>): void =>
  become({
    ...current,
    turns: current.turns.map((turn) => {
      const answer = turn.answers[side];
      return turn.id === turnId && answer ? { ...turn, answers: { ...turn.answers, [side]: { ...answer, ...change(answer) } } } : turn;
    }),
  });

const abortAnswer = (turnId: string, side: Side): void => {
  running.get(answerName(turnId, side))?.abort();
  running.delete(answerName(turnId, side));
};

/** Puts a new answer in the place of the one before. @returns the signal that ends it */
export const beginAnswer = (turnId: string, side: Side, answer: Answer): AbortSignal => {
  abortAnswer(turnId, side);
  const controller = new AbortController();
  running.set(answerName(turnId, side), controller);
  become({
    ...current,
    turns: current.turns.map((turn) => (turn.id === turnId ? { ...turn, answers: { ...turn.answers, [side]: answer } } : turn)),
  });
  return controller.signal;
};

/** Stops reading an answer. What has arrived stays. */
export const stopAnswer = (turnId: string, side: Side): void => {
  abortAnswer(turnId, side);
  changeAnswer(turnId, side, (answer) => (isRunning(answer) ? { state: 'stopped', stoppedIn: answer.state } : {}));
};
