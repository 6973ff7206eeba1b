import { CheckField, CheckGroup, TextField } from '../../design/controls/fields.tsx';
import { Options } from '../../design/controls/options.tsx';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Disclosure, Section, Stack } from '../../design/layout/layout.tsx';
import { choosableTypes, hardwareOf, type InstanceType } from '../deployments/hour-cost.ts';
import type { StepProps } from './model-step.tsx';
import type { Estimate } from './use-estimate.ts';

const MAX_TYPES = 5;

interface InstanceStepProps extends StepProps {
  types: readonly InstanceType[];
  estimate: Estimate | undefined;
  /** The API's estimate for the types. */
  warnings: readonly string[];
}

const QuotaLine = ({ estimate, type }: { estimate: Estimate | undefined; type: string | undefined }) => {
  const found = estimate?.instance_types.find(({ instance_type }) => instance_type === type);
  if (!found) return null;
  const { quota, copies_per_instance: perInstance } = found;
  return (
    <p>
      {perInstance === 1 ? 'One copy fits' : `${perInstance} copies fit`} on an instance.{' '}
      {quota ? `The AWS quota has ${quota.left} of ${quota.limit} instances left.` : 'The AWS quota for this type is unknown.'}
    </p>
  );
};

const Alternatives = ({ draft, onChange, offered }: Pick<StepProps, 'draft' | 'onChange'> & { offered: readonly InstanceType[] }) => {
  const [preferred = '', ...others] = draft.instanceTypes;
  return (
    <Disclosure
      title={others.length > 0 ? `Alternative instance types: ${others.join(', ')}` : 'Alternative instance types, if AWS has no capacity'}
    >
      <CheckGroup label={`Up to ${MAX_TYPES - 1}, tried in the order you choose them`}>
        {offered
          .filter(({ id }) => id !== preferred)
          .map(({ id, price }) => (
            <CheckField
              key={id}
              label={id}
              hint={
                <>
                  <Money amount={price?.per_hour} /> per hour
                </>
              }
              checked={others.includes(id)}
              disabled={!others.includes(id) && others.length >= MAX_TYPES - 1}
              onChange={(checked) =>
                onChange({ instanceTypes: [preferred, ...(checked ? [...others, id] : others.filter((other) => other !== id))] })
              }
            />
          ))}
      </CheckGroup>
    </Disclosure>
  );
};

/** Step 2: the instances that the model runs on. */
export const InstanceStep = ({ types, estimate, warnings, draft, onChange, faults }: InstanceStepProps) => {
  const [preferred = '', ...others] = draft.instanceTypes;
  const offered = choosableTypes(types, Number(draft.accelerators) || 1);
  return (
    <Section title="2. Instance type" isCard>
      {offered.length === 0 ? (
        <Notice tone="warn">
          <p>
            No instance type with this many accelerators has a price, so the deployment can't run. An admin can add prices in{' '}
            <ScreenLink to="/instance-types">Instance types</ScreenLink>.
          </p>
        </Notice>
      ) : (
        <Stack>
          <Options
            label="Instance type"
            value={preferred}
            onChange={(id) => onChange({ instanceTypes: [id, ...others.filter((other) => other !== id)] })}
            fault={faults.instanceTypes}
            options={offered.map((type) => ({
              value: type.id,
              title: type.id,
              note: hardwareOf(type),
              figure: (
                <>
                  <Money amount={type.price?.per_hour} /> per hour
                </>
              ),
            }))}
          />
          <QuotaLine estimate={estimate} type={preferred} />
          {warnings.map((warning) => (
            <Notice key={warning} tone="warn">
              {warning}
            </Notice>
          ))}
          {offered.length > 1 && <Alternatives draft={draft} onChange={onChange} offered={offered} />}
        </Stack>
      )}
      <TextField
        label="Accelerators per copy"
        value={draft.accelerators}
        onChange={(accelerators) => onChange({ accelerators })}
        fault={faults.accelerators}
        inputMode="numeric"
        hint="The model must fit in their combined memory: about 2 GiB per billion parameters at 16 bits, plus room for the context."
      />
    </Section>
  );
};
