import type { Hardware } from './hardware.ts';
import type { Component } from './records.ts';
import type { Specification } from './requests/inputs.ts';
import { keyOf } from './requests/names.ts';
import type { AccountState } from './state.ts';

type Specified = Pick<Component, 'specifications'>;

// The specification that names the instance type, or else the one that names none.
const specificationFor = ({ specifications }: Specified, instanceType: string): Specification | undefined =>
  specifications.find(({ InstanceType }) => InstanceType === instanceType) ??
  specifications.find(({ InstanceType }) => InstanceType === undefined);

/** The hardware that a copy takes on an instance type; undefined without a specification for it. */
export const needsOf = (component: Specified, instanceType: string): Hardware | undefined => {
  const requirements = specificationFor(component, instanceType)?.ComputeResourceRequirements;
  return (
    requirements && {
      accelerators: requirements.NumberOfAcceleratorDevicesRequired ?? 0,
      memoryMb: requirements.MinMemoryRequiredInMb,
    }
  );
};

export const fits = (needs: Hardware | undefined, offer: Hardware | undefined): boolean =>
  needs !== undefined && offer !== undefined && needs.accelerators <= offer.accelerators && needs.memoryMb <= offer.memoryMb;

/**
 * The environment of a new container: the model's, and over it the component's own. undefined: the model does not
 * exist any more.
 */
export const environmentFor = (
  state: AccountState,
  component: Specified,
  instanceType: string,
): Readonly<Record<string, string>> | undefined => {
  const { ModelName, Container } = specificationFor(component, instanceType) ?? {};
  const model = ModelName === undefined ? undefined : state.models.get(keyOf(ModelName));
  if (ModelName !== undefined && !model) return undefined;
  return { ...model?.environment, ...Container?.Environment };
};
