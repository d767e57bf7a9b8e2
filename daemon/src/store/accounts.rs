//! Registered bots: who may play under which name.

use super::ban::BanReason;
use super::owner::Owner;
use super::token::{TokenHash, new_token};
use super::{StoreError, StoreHandle};
use jiff::Timestamp;
use modiar_protocol::{BotName, Secret};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// A registered bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: BotName,
    /// The SHA-256 of its token, in hex.
    pub token: TokenHash,
    /// When it was registered, RFC 3339.
    pub created: String,
    /// Why it may not play, where that is so.
    pub banned: Option<BanReason>,
    /// Whose it is, where that is known.
    pub owner: Option<Owner>,
}

/// Why an account was not made or changed.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum AccountError {
    #[error("the bot '{0}' is registered already; `modiar bot token {0}` makes it a new token")]
    Taken(BotName),
    #[error(
        "somebody plays as '{0}', a guest or a bot that was removed; wait until that is over, which it is not while the daemon \
         is stopped, or choose another name"
    )]
    InUse(BotName),
    #[error(
        "no bot '{0}' is registered; `modiar bot list` shows those that are, and guests = false keeps all guests out"
    )]
    Unknown(BotName),
    #[error("names beginning house- belong to the server; choose another")]
    House,
    #[error("the disk is full, and results wait for space; nothing was changed: make room and try again")]
    Full,
    #[error("the system gives no random numbers: {0}")]
    Chance(String),
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
}

#[derive(Debug, Default)]
struct Known {
    accounts: HashMap<BotName, Account>,
    /// A name that is being registered: nobody else may take it meanwhile.
    coming: Option<BotName>,
}

/// All registered bots, in memory and in the store.
#[derive(Debug)]
pub struct Accounts {
    known: Mutex<Known>,
    /// Held from the reading of an account to the storing of what it becomes: changes come one after the other.
    changing: tokio::sync::Mutex<()>,
    store: StoreHandle,
}

impl Accounts {
    /// The accounts that `store` has.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn load(store: StoreHandle) -> Result<Self, AccountError> {
        let accounts = store.with(|store| store.accounts()).await?;
        let accounts = accounts.into_iter().map(|account| (account.name.clone(), account)).collect();
        Ok(Self { known: Mutex::new(Known { accounts, coming: None }), changing: tokio::sync::Mutex::default(), store })
    }

    /// Where they are stored.
    #[must_use]
    pub const fn store(&self) -> &StoreHandle {
        &self.store
    }

    /// Whether somebody owns the name, or soon will.
    #[must_use]
    pub fn owns(&self, name: &BotName) -> bool {
        let known = self.known();
        known.accounts.contains_key(name) || known.coming.as_ref() == Some(name)
    }

    /// Whether who owned the name at that moment still does, and may play by it.
    #[must_use]
    pub fn welcomes(&self, name: &BotName, since: &str) -> bool {
        let known = self.known();
        // Both are told in UTC and with as many digits, so that the earlier text is the earlier moment.
        known.accounts.get(name).is_some_and(|account| account.banned.is_none() && *account.created <= *since)
    }

    /// The account of that name, if `token` is its token. An unknown name takes as long as a wrong token.
    #[must_use]
    pub fn authenticate(&self, name: &BotName, token: &Secret) -> Option<Account> {
        let account = self.known().accounts.get(name).cloned();
        let hash = account.as_ref().map_or_else(|| TokenHash::stored("0".repeat(64)), |account| account.token.clone());
        if hash.is_of(token) { account } else { None }
    }

    /// Whose a bot is; nobody's where that is not known, or nobody has registered it.
    #[must_use]
    pub fn owner(&self, name: &BotName) -> Option<Owner> {
        self.known().accounts.get(name)?.owner.clone()
    }

    /// All accounts, by name.
    #[must_use]
    pub fn list(&self) -> Vec<Account> {
        let mut accounts: Vec<Account> = self.known().accounts.values().cloned().collect();
        accounts.sort_by_key(|account| account.name.as_str().to_ascii_lowercase());
        accounts
    }

    /// Registers a bot, where nobody else plays by the name; its token is told here and never again.
    ///
    /// # Errors
    /// The name is taken or the server's, or it could not be stored.
    pub async fn add(
        &self,
        name: BotName,
        owner: Option<Owner>,
        is_free: impl FnOnce(&BotName) -> bool,
    ) -> Result<Secret, AccountError> {
        if name.is_house() {
            return Err(AccountError::House);
        }
        let _changing = self.change().await?;
        if self.owns(&name) {
            return Err(AccountError::Taken(name));
        }
        // First: whoever comes after the look below finds the name taken.
        self.known().coming = Some(name.clone());
        let added = if is_free(&name) { self.register(name, owner).await } else { Err(AccountError::InUse(name)) };
        self.known().coming = None;
        added
    }

    async fn register(&self, name: BotName, owner: Option<Owner>) -> Result<Secret, AccountError> {
        let token = new_token()?;
        let created = format!("{:.6}", Timestamp::now());
        // What an earlier owner of the name had still to hear of is nobody's, and what he had won too.
        let (earlier, ratings) = (name.clone(), Arc::clone(self.store.ratings()));
        self.store.with(move |store| store.disown(&earlier).map(|()| ratings.remove(&earlier))).await?;
        self.put(Account { name, token: TokenHash::of(&token), created, banned: None, owner }).await?;
        Ok(token)
    }

    /// Gives a bot a new token; the old one is worth nothing from now on.
    ///
    /// # Errors
    /// No such bot, or it could not be stored.
    pub async fn renew(&self, name: &BotName) -> Result<Secret, AccountError> {
        let token = new_token()?;
        let _changing = self.change().await?;
        let account = self.get(name)?;
        self.put(Account { token: TokenHash::of(&token), ..account }).await?;
        Ok(token)
    }

    /// Bans a bot, or takes that back.
    ///
    /// # Errors
    /// No such bot, or it could not be stored.
    pub async fn ban(&self, name: &BotName, reason: Option<BanReason>) -> Result<(), AccountError> {
        let _changing = self.change().await?;
        let account = self.get(name)?;
        self.put(Account { banned: reason, ..account }).await
    }

    /// Says whose a bot is, or that nobody's is known.
    ///
    /// # Errors
    /// No such bot, or it could not be stored.
    pub async fn give(&self, name: &BotName, owner: Option<Owner>) -> Result<(), AccountError> {
        let _changing = self.change().await?;
        let account = self.get(name)?;
        self.put(Account { owner, ..account }).await
    }

    /// Removes a bot; its games stay.
    ///
    /// # Errors
    /// No such bot, or it could not be stored.
    pub async fn remove(&self, name: &BotName) -> Result<(), AccountError> {
        let _changing = self.change().await?;
        let Account { name, .. } = self.get(name)?;
        self.delete(name).await
    }

    /// Removes a bot that still has this token: what it was given another since is somebody's.
    ///
    /// # Errors
    /// It could not be stored.
    pub async fn take_back(&self, name: &BotName, token: &Secret) -> Result<(), AccountError> {
        let _changing = self.change().await?;
        if self.authenticate(name, token).is_some() { self.delete(name.clone()).await } else { Ok(()) }
    }

    async fn delete(&self, name: BotName) -> Result<(), AccountError> {
        let (gone, ratings) = (name.clone(), Arc::clone(self.store.ratings()));
        self.store.with(move |store| store.remove_account(&gone).map(|()| ratings.remove(&gone))).await?;
        self.known().accounts.remove(&name);
        Ok(())
    }

    /// The turn to change the accounts.
    async fn change(&self) -> Result<tokio::sync::MutexGuard<'_, ()>, AccountError> {
        // What waits behind results that wait for space is done at no time that anybody knows.
        if self.store.is_full() {
            return Err(AccountError::Full);
        }
        Ok(self.changing.lock().await)
    }

    async fn put(&self, account: Account) -> Result<(), AccountError> {
        let kept = account.clone();
        self.store.with(move |store| store.put_account(&kept)).await?;
        self.known().accounts.insert(account.name.clone(), account);
        Ok(())
    }

    fn get(&self, name: &BotName) -> Result<Account, AccountError> {
        self.known().accounts.get(name).cloned().ok_or_else(|| AccountError::Unknown(name.clone()))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
