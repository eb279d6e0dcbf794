
# Bash takes : and = for ends of words, and ids and settings contain them. The completion above sees whole words, and what
# it offers loses what bash has already.
_PROGRAM_whole_words() {
    local cur words cword
    _get_comp_words_by_ref -n := cur words cword
    local typed=${cur%"${cur##*[:=]}"}
    local -a COMP_WORDS=("${words[@]}")
    local COMP_CWORD=$cword
    _PROGRAM PROGRAM "$cur" "${words[cword - 1]}"
    if [[ -n $typed && $COMP_WORDBREAKS == *"${typed: -1}"* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$typed"}")
    fi
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
# Of the package bash-completion, without which words end as bash has it.
if declare -F _get_comp_words_by_ref >/dev/null; then complete -o filenames -F _PROGRAM_whole_words PROGRAM; fi
