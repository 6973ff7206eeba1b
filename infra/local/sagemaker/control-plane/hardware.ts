/** The part of an instance that copies can use. */
export interface Hardware {
  accelerators: number;
  memoryMb: number;
}

const TYPE = /^ml\.([a-z]+)[a-z0-9-]*\.(?:(\d*)x)?(large|metal)$/;
const GIB_PER_XLARGE = 16;
// The host keeps this for itself. SageMaker does not publish it: on ml.g5.xlarge, with 16 GiB, a copy of 1,024 MB was
// accepted and one of 4,096 MB was refused.
const RESERVED_MB = 13_312;

// Sizes with more than one accelerator, as a multiple of xlarge; P instances have 8 from 16xlarge on.
const acceleratorsOf = (family: string, xlarges: number): number => {
  if (family !== 'g' && family !== 'p') return 0;
  if (xlarges >= 48 || (family === 'p' && xlarges >= 16)) return 8;
  return xlarges === 12 || xlarges === 24 ? 4 : 1;
};

/**
 * @returns undefined: there is no such type. Types are told apart by their family and size only, which is right for
 * G4dn to G6e, P4 and P5.
 */
export const hardwareOf = (instanceType: string): Hardware | undefined => {
  const [, family, multiple, size] = TYPE.exec(instanceType) ?? [];
  if (family === undefined) return undefined;
  const xlarges = multiple === undefined || size !== 'large' ? 1 : Number(multiple || 1);
  const memoryMb = Math.max(1_024, xlarges * GIB_PER_XLARGE * 1_024 - RESERVED_MB);
  return { accelerators: acceleratorsOf(family.slice(0, 1), xlarges), memoryMb };
};
