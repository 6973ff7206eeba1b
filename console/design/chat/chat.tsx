import { type ReactNode, useEffect, useId, useRef } from 'react';
import classes from './chat.module.css';

/** Messages below one another. */
export const Conversation = ({ children }: { children: ReactNode }) => <div className={classes.conversation}>{children}</div>;

/** A message of the user, with what came of it. A new one comes into sight. */
export const TurnOf = ({ question, children }: { question: string; children: ReactNode }) => {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It returns a promise, which React would take for what ends the effect.
    void place.current?.scrollIntoView({ block: 'start' });
  }, []);
  return (
    <div className={classes.turn} ref={place}>
      <div className={classes.question}>
        <span className="visually-hidden">You: </span>
        {question}
      </div>
      {children}
    </div>
  );
};

interface AnswerCardProps {
  title: string;
  /** Chips and buttons. */
  head: ReactNode;
  isBusy: boolean;
  children: ReactNode;
}

/** The answer of a model. */
export const AnswerCard = ({ title, head, isBusy, children }: AnswerCardProps) => {
  const id = useId();
  return (
    <article className={classes.answer} aria-labelledby={id} aria-busy={isBusy}>
      <div className={classes['answer-head']}>
        <h2 id={id}>{title}</h2>
        {head}
      </div>
      {children}
    </article>
  );
};

/** A text as a model wrote it: never as markup. */
export const WrittenText = ({ text, isSoft = false }: { text: string; isSoft?: boolean }) => (
  <div className={`${classes.text} ${isSoft ? classes.soft : ''}`}>{text}</div>
);

/** The place of the next message, which stays in sight. */
export const ComposerPlace = ({ children }: { children: ReactNode }) => <div className={classes.composer}>{children}</div>;

/** How far something is that takes a while. @param value from 0 to 1 */
export const Progress = ({ label, value }: { label: string; value: number }) => (
  <progress className={classes.progress} aria-label={label} max={1} value={value} />
);
