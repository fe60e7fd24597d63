export function serve(options?: {
  readonly port?: number;
  readonly isolated?: boolean;
}): Promise<{ readonly url: string; readonly close: () => void }>;
