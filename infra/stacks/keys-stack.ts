import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { EncryptionKey } from '../constructs/tables/encryption-key.ts';

/** The key that encrypts the data of all stacks, which must outlive them. Only with `customerManagedKey`. */
export class KeysStack extends Stack {
  readonly encryption: EncryptionKey;

  constructor(scope: Construct, id: string, { config }: { config: Config }) {
    super(scope, id, { terminationProtection: true });
    this.encryption = new EncryptionKey(this, 'Encryption', { config });
    new CfnOutput(this, 'EncryptionKeyArn', { value: this.encryption.key.keyArn });
  }
}
