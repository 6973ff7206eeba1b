/** The version of the serverless surface (interface 9). */
export const API_VERSION = '1.0.0';

/** The version of the control plane's interface. */
export const CONTROL_API_VERSION = '1.0.0';
