import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import * as z from 'zod';

/** The values that a stack's template exports to other stacks, each as a text, and the names that it imports. */
export const LinkedStack = z.object({ name: z.string(), exports: z.record(z.string(), z.string()), imports: z.array(z.string()) });
export type LinkedStack = z.infer<typeof LinkedStack>;

interface Template {
  Outputs?: Record<string, { Value: unknown; Export?: { Name: string } }>;
}

const importsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === 'Fn::ImportValue' ? [String(inner)] : importsIn(inner)));
};

/** The stacks of a cloud assembly, in the order in which the CDK deploys them. */
export const linkedStacks = (folder: string): LinkedStack[] =>
  new CloudAssembly(folder).stacks.map(({ stackName: name, template }) => {
    const { Outputs = {} } = template as Template;
    return {
      name,
      exports: Object.fromEntries(
        Object.values(Outputs).flatMap(({ Value, Export }) => (Export ? [[Export.Name, JSON.stringify(Value)]] : [])),
      ),
      imports: [...new Set(importsIn(template))].sort(),
    };
  });

/**
 * The updates that CloudFormation rejects when stacks are deployed one after the other: changing or removing an export
 * that a deployed stack imports, and importing one that no deployed stack has.
 * @param deployed the stacks before; one that is not among the updated ones stays as it is, as with `cdk deploy --all`
 * @param updated the stacks that are deployed, in this order
 */
export const refusedUpdates = (deployed: readonly LinkedStack[], updated: readonly LinkedStack[]): string[] => {
  const current = new Map(deployed.map((stack) => [stack.name, stack]));
  const refused: string[] = [];
  for (const stack of updated) {
    for (const [name, value] of Object.entries(current.get(stack.name)?.exports ?? {})) {
      if (stack.exports[name] === value) continue;
      for (const other of current.values()) if (other.imports.includes(name)) refused.push(`${name} is in use by ${other.name}`);
    }
    current.set(stack.name, stack);
    const exported = new Set([...current.values()].flatMap((each) => Object.keys(each.exports)));
    for (const name of stack.imports) if (!exported.has(name)) refused.push(`${stack.name} imports ${name}, which no stack exports`);
  }
  return refused;
};
