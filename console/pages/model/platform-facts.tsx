import { CopyText } from '../../design/controls/copy.tsx';
import { Table } from '../../design/data/table.tsx';
import { Money } from '../../design/data/values.tsx';
import { formatStart } from '../../design/format/times.ts';
import { Section } from '../../design/layout/layout.tsx';
import type { Model } from './model-facts.tsx';

/** The price versions and targets of a model, which only the platform sees. */
export const PlatformFacts = ({ model: { prices, targets } }: { model: Model }) => (
  <>
    {prices && (
      <Section title="Price versions">
        <Table
          label="All price versions"
          rows={prices}
          keyOf={({ version }) => version}
          columns={[
            { title: 'Effective from', isWhole: true, render: ({ effective_at }) => formatStart(effective_at) },
            { title: 'Input / M', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.prompt} /> },
            { title: 'Cached / M', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.cached_prompt} /> },
            { title: 'Output / M', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.completion} /> },
            { title: 'Version', render: ({ version }) => <CopyText text={version} /> },
          ]}
        />
      </Section>
    )}
    {targets && (
      <Section title="Targets">
        <Table
          label="All targets"
          rows={targets}
          keyOf={({ endpoint, component, region }) => `${endpoint} ${component} ${region}`}
          columns={[
            { title: 'Endpoint', render: ({ endpoint }) => endpoint },
            { title: 'Component', render: ({ component }) => component ?? 'whole endpoint' },
            { title: 'Region', render: ({ region }) => region ?? 'own region' },
            { title: 'Weight', isNumeric: true, render: ({ weight }) => weight },
          ]}
        />
      </Section>
    )}
  </>
);
