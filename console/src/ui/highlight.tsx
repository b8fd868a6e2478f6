import type { ReactNode } from 'react'

// Comments, texts, keywords: enough to read a short program of any language by.
const parts =
  /(?<comment>(?<![:\w'"])\/\/.*|(?<=^|\s)# .*|<!--.*?-->)|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|(?<keyword>\b(?:async|await|class|const|def|defer|do|else|end|export|for|from|func|function|if|import|in|let|new|nil|null|package|private|public|require|return|static|struct|true|false|use|using|val|var|void|while)\b)/gm

/** The code with its comments, texts and keywords in colors of their own. */
export function highlight(code: string): ReactNode[] {
  const shown: ReactNode[] = []
  let end = 0
  for (const match of code.matchAll(parts)) {
    const kind = Object.entries(match.groups!).find(([, value]) => value !== undefined)![0]
    shown.push(
      code.slice(end, match.index),
      <span key={match.index} className={`code-${kind}`}>
        {match[0]}
      </span>,
    )
    end = match.index + match[0].length
  }
  return [...shown, code.slice(end)]
}
