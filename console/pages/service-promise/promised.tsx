import { Items } from '../../design/layout/layout.tsx';
import { type Figures, promiseSentences } from './promise-words.ts';

/** The promise of a model in sentences. `otherwise` says that there is none. */
export const Promised = ({ figures, otherwise }: { figures: Figures; otherwise: string }) => {
  const sentences = promiseSentences(figures);
  if (sentences.length === 0) return <>{otherwise}</>;
  return (
    <Items>
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </Items>
  );
};
