import type { wireOf } from '../api/client'

/** A request as a command for a POSIX shell. Host and token come from the environment. */
export function curlOf({ method, url, headers, body }: ReturnType<typeof wireOf>): string {
  const lines = [
    // encodeURIComponent leaves none of the characters that a shell expands between these quotes, but for history the exclamation mark.
    `curl -sS --fail-with-body -X ${method} "$GUIDON_URL${url.replaceAll('!', '%21')}"`,
    '-H "Authorization: $GUIDON_TOKEN"',
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ]
  if (body !== undefined) lines.push(`-d ${quoted(JSON.stringify(body, null, 2))}`)
  return lines.join(' \\\n  ')
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
