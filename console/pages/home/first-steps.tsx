import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Chip } from '../../design/data/values.tsx';
import { Items, Row, Section } from '../../design/layout/layout.tsx';
import { type Summary, stepsOf } from './attention.ts';

/** The things to do first, until all of it is done. */
export const FirstSteps = ({ summary }: { summary: Summary }) => {
  const steps = stepsOf(summary);
  if (steps.length === 0) return null;
  return (
    <Section title="First steps" isCard>
      <Items isOrdered>
        {steps.map(({ title, isDone, to }) => (
          <li key={title}>
            <Row>
              <Chip state={isDone ? 'done' : 'to do'} tone={isDone ? 'good' : 'accent'} />
              {isDone ? title : <ScreenLink to={to}>{title}</ScreenLink>}
            </Row>
          </li>
        ))}
      </Items>
    </Section>
  );
};
