import { idLike } from '../../../shared/ids/id.ts';
import type { OutputCompaction } from '../../../shared/responses/output-item.ts';
import { createOutput, type Output } from './output.ts';
import { isCompactionRequest, type ResponsesRequest } from './request.ts';
import { ENCRYPTED_REASONING } from './to-chat.ts';
import { sealText } from './tools/compaction.ts';
import { added, done } from './tools/item-events.ts';

const textOf = (answer: Output, type: 'message' | 'reasoning'): string =>
  answer
    .items()
    .flatMap((item) => (item.type === type ? ((item as { content?: { text: string }[] }).content ?? []) : []))
    .map(({ text }) => text)
    .join('\n');

// Clients accept exactly one item, and no other beside it.
const createCompaction = (responseId: string, answer: Output): Output => {
  const items: OutputCompaction[] = [];
  return {
    ...answer,
    take: (chunks) => {
      answer.take(chunks);
      return [];
    },
    end: () => {
      answer.end();
      // An empty summary would lose the whole conversation.
      const summary = textOf(answer, 'message') || textOf(answer, 'reasoning');
      const item: OutputCompaction = {
        id: `${idLike('compaction', responseId)}_0`,
        type: 'compaction',
        encrypted_content: sealText(summary),
      };
      items.push(item);
      return [added(0, item), done(0, item)];
    },
    items: () => items,
  };
};

/** The output items of an answer, or the one item with a summary if the request asks for that. */
export const outputFor = (request: ResponsesRequest, responseId: string): Output => {
  const { body, names } = request;
  const isSummary = isCompactionRequest(request);
  const output = createOutput(responseId, {
    asSummary: !isSummary && body.reasoning?.summary != null,
    seals: body.include?.includes(ENCRYPTED_REASONING) === true,
    names,
  });
  return isSummary ? createCompaction(responseId, output) : output;
};
