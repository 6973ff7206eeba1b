import type { Model, Target } from '../../../shared/models/model.ts';
import { tokenCount } from '../../../shared/upstream/chunk.ts';
import { type Finding, failing, passing } from './finding.ts';
import { type ProbeDependencies, sendChatProbe } from './send-probe.ts';

/**
 * Sends one short chat request to a target, through the code that sends callers' requests.
 * @returns the duration of the answer and the container's count of the prompt, or the reason of its failure
 */
export const probeTarget = async (deps: ProbeDependencies, model: Model, target: Target): Promise<Finding> => {
  let promptTokens: number | undefined;
  const sent = await sendChatProbe(deps, model, target, {
    kind: 'a short chat request',
    maxTokens: 1,
    take: ({ usage }) => {
      promptTokens = tokenCount(usage?.prompt_tokens) ?? promptTokens;
    },
  });
  if ('failure' in sent) return failing(sent.failure);
  return { ...passing(`The container answered a short chat request in ${sent.durationMs} ms.`), promptTokens };
};
