import { IconButton } from './button'
import './favorite.css'
import { Icons } from './icons'

interface FavoriteButtonProps {
  /** What is marked: the name of the project or the flag. */
  name: string
  favorite: boolean
  onChange: (favorite: boolean) => void
}

/** A star that adds something to the caller's favorites and removes it. */
export function FavoriteButton({ name, favorite, onChange }: FavoriteButtonProps) {
  return (
    <IconButton
      label={favorite ? `Remove ${name} from your favorites` : `Add ${name} to your favorites`}
      icon={<Icons.Star />}
      className={favorite ? 'favorite favorite-on' : 'favorite'}
      onClick={() => onChange(!favorite)}
    />
  )
}
