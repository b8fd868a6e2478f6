import { wireOf, type ApiRequest } from '../api/client'
import { CodeBlock } from '../ui/bits'
import { Dialog } from '../ui/dialog'
import { Notice } from '../ui/states'
import { curlOf } from './curl'

/** Shows the requests that a form would send as commands. They have the caller's token from the environment, never the session. */
export default function CommandDialog({ requests, onClose }: { requests: () => ApiRequest[]; onClose: () => void }) {
  const commands = commandsOf(requests)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="The form as a command"
      description={
        <>
          Does what the form would do now. Set <code>GUIDON_URL</code> to {window.location.origin}, and <code>GUIDON_TOKEN</code> to a personal token, which you
          create on the page Profile, or to the token of a service account.
        </>
      }
    >
      {commands === undefined ? <Notice>Fill in the required fields first.</Notice> : <CodeBlock code={commands} label="Command" />}
    </Dialog>
  )
}

// undefined while a name that is part of a path is missing.
function commandsOf(requests: () => ApiRequest[]): string | undefined {
  try {
    const commands = requests().map((request) => curlOf(wireOf(request)))
    return commands.join('\n') || undefined
  } catch {
    return undefined
  }
}
