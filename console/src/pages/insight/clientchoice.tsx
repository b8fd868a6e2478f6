import { useId } from 'react'
import { Section } from '../../ui'
import { otherClients } from './othersnippets'
import { clients, type Client } from './snippets'

/** All clients of the page. */
export const allClients = [...clients, ...otherClients]

const groups: { kind: Client['kind']; title: string; hint: string }[] = [
  { kind: 'server', title: 'On a server', hint: 'It has a client token. SDKs fetch the flags and evaluate them themselves.' },
  { kind: 'browser', title: 'In a browser or an app', hint: 'It has a frontend token, which users can read. Guidon evaluates the flags.' },
]

/** The client library, in two groups: those of servers and those of browsers. */
export function ClientChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const name = useId()
  return (
    <Section title="Where it runs">
      {groups.map((group) => (
        <fieldset key={group.kind} className="stack-s" aria-describedby={`${name}-${group.kind}`}>
          <legend className="strong">{group.title}</legend>
          <p id={`${name}-${group.kind}`} className="soft small">
            {group.hint}
          </p>
          <div className="client-choices">
            {allClients
              .filter((client) => client.kind === group.kind)
              .map((client) => (
                <label key={client.id} className="client-choice">
                  <input type="radio" name={name} value={client.id} checked={client.id === value} onChange={() => onChange(client.id)} />
                  {client.label}
                </label>
              ))}
          </div>
        </fieldset>
      ))}
    </Section>
  )
}
