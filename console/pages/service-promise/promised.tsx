import { Items } from '../../design/layout/layout.tsx';
import { type Figures, promiseSentences } from './promise-words.ts';

/** What a model promises, in sentences. `otherwise` says that it is nothing. */
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
