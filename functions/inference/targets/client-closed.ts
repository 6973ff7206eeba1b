/** The reason of an abort if the caller has left, which says nothing about the target. */
export class ClientClosed extends Error {}
