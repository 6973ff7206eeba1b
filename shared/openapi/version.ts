/** The version of the serverless surface (interface 9). */
export const API_VERSION = '1.0.0';
