import { useState } from 'react';
import { Button } from './button.tsx';
import classes from './controls.module.css';

const SHOWN_MS = 1_500;

const useCopy = (text: string): { isCopied: boolean; copy: () => void } => {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => setCopied(false), SHOWN_MS);
      },
      () => undefined,
    );
  };
  return { isCopied, copy };
};

/** An id, which a click copies. */
export const CopyText = ({ text, label = text }: { text: string; label?: string }) => {
  const { isCopied, copy } = useCopy(text);
  return (
    <button type="button" className={classes.copy} onClick={copy} title={`Copy ${text}`}>
      {label}
      <span aria-live="polite">{isCopied ? ' copied' : ''}</span>
    </button>
  );
};

/** Copies a text that is not shown as it is, such as a table as CSV. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const { isCopied, copy } = useCopy(text);
  return (
    <Button onClick={copy}>
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  );
};

interface CodeProps {
  /** Names of the variants, such as languages, and their texts. */
  variants: readonly (readonly [name: string, text: string])[];
  /** The variant that is shown. */
  chosen?: string;
  onChoose?: (name: string) => void;
  label: string;
}

/** Code to copy, in several languages if there are several. */
export const Code = ({ variants, chosen, onChoose, label }: CodeProps) => {
  const [own, setOwn] = useState(variants[0]?.[0] ?? '');
  const name = chosen ?? own;
  const [, text = ''] = variants.find(([variant]) => variant === name) ?? variants[0] ?? [];
  const { isCopied, copy } = useCopy(text);
  return (
    <figure className={classes.code} aria-label={label}>
      <div className={classes['code-head']}>
        <div>
          {variants.length > 1 &&
            variants.map(([variant]) => (
              <Button
                key={variant}
                look="plain"
                aria-pressed={variant === name}
                onClick={() => {
                  setOwn(variant);
                  onChoose?.(variant);
                }}
              >
                {variant}
              </Button>
            ))}
        </div>
        <Button look="plain" onClick={copy}>
          <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
};
