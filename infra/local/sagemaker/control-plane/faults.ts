import { CALL_FAULTS, type CallFaultKind, type DeploymentFault, type PhaseFaultKind } from './settings.ts';

/** The failures that are still to happen. */
export interface Faults {
  set(faults: readonly DeploymentFault[]): void;
  /** Returns the failure of a call, if there is one, and counts it. */
  claimCall(operation: string, name: string): CallFaultKind | undefined;
  /** Returns whether a phase of a resource fails, and counts it. */
  claimPhase(kind: PhaseFaultKind, name: string, instanceType?: string): boolean;
  /** The failures with their remaining counts. */
  remaining(): DeploymentFault[];
}

const literal = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

const matches = (pattern: string, text: string): boolean => new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`, 's').test(text);

const isCallFault = (kind: DeploymentFault['kind']): kind is CallFaultKind => CALL_FAULTS.some((other) => other === kind);

export const createFaults = (): Faults => {
  let faults: DeploymentFault[] = [];
  const claim = (isMeant: (fault: DeploymentFault) => boolean): DeploymentFault | undefined => {
    const index = faults.findIndex(isMeant);
    const fault = faults[index];
    if (fault?.times !== undefined)
      faults = fault.times > 1 ? faults.with(index, { ...fault, times: fault.times - 1 }) : faults.toSpliced(index, 1);
    return fault;
  };
  return {
    set(next) {
      faults = [...next];
    },
    claimCall: (operation, name) => {
      const kind = claim((fault) => isCallFault(fault.kind) && matches(fault.operation, operation) && matches(fault.name, name))?.kind;
      return kind !== undefined && isCallFault(kind) ? kind : undefined;
    },
    claimPhase: (kind, name, instanceType) =>
      claim(
        (fault) =>
          fault.kind === kind && matches(fault.name, name) && (fault.instance_type === undefined || fault.instance_type === instanceType),
      ) !== undefined,
    remaining: () => faults,
  };
};
