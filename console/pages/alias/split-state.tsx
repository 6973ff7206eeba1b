import { useState } from 'react';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { Button } from '../../design/controls/button.tsx';
import { Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { formatCount } from '../../design/format/amounts.ts';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Facts, Row, Section, Stack } from '../../design/layout/layout.tsx';
import { type Alias, restartBodyOf } from '../aliases/alias-draft.ts';
import { placeOf } from './alias-actions.tsx';
import { reasonOf, type Split } from './sides.ts';
import { SplitSides } from './split-sides.tsx';

const Restart = ({ alias, split, onClose }: { alias: Alias; split: Split; onClose: () => void }) => (
  <Confirm
    title="Restart split"
    action="Restart split"
    look="primary"
    onConfirm={async () => {
      const { parameters } = placeOf(alias);
      await request('PUT /v1/model-aliases/{alias+}', { parameters, body: restartBodyOf(alias), version: alias.version });
      await readAgain('/v1/model-aliases');
    }}
    onClose={onClose}
  >
    <p>
      Within 30 seconds, {split.model} answers {split.percent}% of callers again. Its error count starts from zero.
    </p>
  </Confirm>
);

const Stopped = ({ alias, split, canChange }: SplitStateProps) => {
  const [restarted, setRestarted] = useState<Alias>();
  return (
    <Notice tone="warn">
      <Stack>
        <p>
          The split stopped automatically <Time seconds={split.stopped_at} />: {reasonOf(split)}. {alias.model} has answered all callers
          since then.
        </p>
        {canChange && (
          <Row>
            <Button onClick={() => setRestarted(alias)}>Restart split</Button>
          </Row>
        )}
      </Stack>
      {restarted && <Restart alias={restarted} split={split} onClose={() => setRestarted(undefined)} />}
    </Notice>
  );
};

interface SplitStateProps {
  alias: Alias;
  split: Split;
  canChange: boolean;
}

/** How an alias splits its callers, if it still does, and how both sides have answered. */
export const SplitState = ({ alias, split, canChange }: SplitStateProps) => {
  const { model, percent, max_error_percent, min_requests, started_at, stopped_at } = split;
  const share = stopped_at === null ? percent : 0;
  return (
    <Section title="Split" isCard>
      {stopped_at !== null && <Stopped alias={alias} split={split} canChange={canChange} />}
      <Facts
        facts={[
          ['Now', `${100 - share}% of callers on ${alias.model}, ${share}% on ${model}`],
          [
            'Stops automatically',
            max_error_percent === null
              ? 'never'
              : `if more than ${max_error_percent}% of the last ${formatCount(min_requests)} requests to ${model} fail`,
          ],
          ['Started', <Time key="started" seconds={started_at} />],
        ]}
      />
      <SplitSides alias={alias} split={split} />
    </Section>
  );
};
