//! Characters of texts that come from outside.

/// Whether a character is not to be seen as such: a control character, or one that turns the direction of what follows, has no
/// width, breaks a line or marks others. What holds one may look like what it is not.
#[must_use]
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
