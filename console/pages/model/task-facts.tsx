import { Count } from '../../design/data/values.tsx';

const TASKS: Readonly<Record<string, string>> = {
  generate: 'generates text',
  embed: 'embeds texts as vectors',
  rerank: 'sorts documents by relevance',
};

interface WithTask {
  task: string;
  embedding: { dimensions: number; is_shortenable?: boolean | undefined } | null;
}

/** Facts about the task of a model or a deployment. */
export const taskFacts = ({ task, embedding }: WithTask) =>
  [
    ['Task', TASKS[task] ?? task],
    ['Dimensions', embedding ? <Count key="dimensions" value={embedding.dimensions} /> : undefined],
    ['Shorter vectors', embedding ? (embedding.is_shortenable ? 'yes, with dimensions' : 'no') : undefined],
  ] as const;
