import { wireOf, type ApiRequest } from '../api/client'
import { CodeBlock } from '../ui/bits'
import { Dialog } from '../ui/dialog'
import { curlOf } from './curl'

/** Shows requests as commands. They have the caller's token from the environment, never the session. */
export default function CommandDialog({ requests, onClose }: { requests: Record<string, ApiRequest>; onClose: () => void }) {
  const commands = Object.entries(requests).map(([what, request]) => `# ${what}\n${curlOf(wireOf(request))}`)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Commands"
      description={
        <>
          For a script. Set <code>GUIDON_URL</code> to {window.location.origin}, and <code>GUIDON_TOKEN</code> to a personal token, which you create on the page
          Profile, or to the token of a service account.
        </>
      }
    >
      <CodeBlock code={commands.join('\n\n')} label="Commands" />
    </Dialog>
  )
}
