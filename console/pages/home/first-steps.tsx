import { useState } from 'react';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { Steps } from '../../design/layout/steps.tsx';
import type { Summary } from './attention.ts';
import { stepsOf } from './steps.ts';

const STORED = 'sluice-first-steps';
const HIDDEN = 'hidden';

const isHidden = (): boolean => localStorage.getItem(STORED) === HIDDEN;

/** True while the steps of a first run are shown. */
export const hasOpenSteps = (summary: Summary): boolean => !isHidden() && stepsOf(summary).length > 0;

/** The things to do first, until all of it is done, or this browser's user hides them. */
export const FirstSteps = ({ summary }: { summary: Summary }) => {
  const [isHiddenNow, setHidden] = useState(isHidden);
  const steps = stepsOf(summary);
  if (isHiddenNow || steps.length === 0) return null;
  const next = steps.find(({ isDone }) => !isDone);
  const hide = (): void => {
    localStorage.setItem(STORED, HIDDEN);
    setHidden(true);
  };
  return (
    <Section
      title={`First steps: ${steps.filter(({ isDone }) => isDone).length} of ${steps.length} done`}
      isCard
      actions={
        <Button look="plain" onClick={hide}>
          Hide first steps
        </Button>
      }
    >
      <Steps
        steps={steps.map(({ to, action, ...step }) => ({
          ...step,
          action: (
            <ButtonLink to={to} {...(step.title === next?.title && { look: 'primary' })}>
              {action}
            </ButtonLink>
          ),
        }))}
      />
    </Section>
  );
};
