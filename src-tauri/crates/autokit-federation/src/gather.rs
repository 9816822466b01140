//! Asking several libraries at once.

use std::time::{Duration, Instant};

use autokit_api::LibraryState;
use autokit_error::{ApiError, Result};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, join, join_all, select};

/// What became of a question to a library.
#[derive(Debug)]
pub(crate) struct Gathered<T> {
    pub(crate) answer: Option<T>,
    pub(crate) state: LibraryState,
    pub(crate) error: Option<ApiError>,
    pub(crate) took: Duration,
}

/// A question to a library.
pub(crate) type Question<'a, T> = BoxFuture<'a, Result<T>>;

/// Asks the open library and the others at once. The open one is waited for; others are given up that have not answered when
/// `time_is_up`. The answers are in the order of the questions, the open library's first.
pub(crate) async fn gather<T>(
    open: Question<'_, T>,
    others: Vec<Question<'_, T>>,
    time_is_up: BoxFuture<'_, ()>,
) -> Vec<Gathered<T>> {
    let began = Instant::now();
    let time_is_up = time_is_up.shared();
    let gathered = |answer: Option<Result<T>>| {
        let took = began.elapsed();
        match answer {
            Some(Ok(answer)) => {
                Gathered { answer: Some(answer), state: LibraryState::Answered, error: None, took }
            }
            Some(Err(error)) => {
                Gathered { answer: None, state: LibraryState::Failed, error: Some(error), took }
            }
            None => Gathered { answer: None, state: LibraryState::Late, error: None, took },
        }
    };
    let others = others.into_iter().map(async |question| match select(question, time_is_up.clone()).await {
        Either::Left((answer, _)) => gathered(Some(answer)),
        Either::Right(((), _)) => gathered(None),
    });
    let (open, others) = join(async { gathered(Some(open.await)) }, join_all(others)).await;
    std::iter::once(open).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::sync::oneshot;

    use super::*;

    fn answers(answer: u32) -> Question<'static, u32> {
        Box::pin(async move { Ok(answer) })
    }

    fn never() -> Question<'static, u32> {
        Box::pin(std::future::pending())
    }

    /// Answers when it is told to.
    fn when_told(answer: u32) -> (oneshot::Sender<()>, Question<'static, u32>) {
        let (tell, told) = oneshot::channel();
        (tell, Box::pin(told.map(move |_| Ok(answer))))
    }

    #[tokio::test]
    async fn a_dead_library_delays_the_others_until_time_is_up_and_no_longer() {
        let (time_is_up, up) = oneshot::channel::<()>();
        let refused: Question<'_, u32> = Box::pin(async { Err(ApiError::cancelled()) });
        let others = vec![never(), answers(2), refused];
        let mut gathering = pin!(gather(answers(1), others, Box::pin(up.map(drop))));
        assert!(gathering.as_mut().now_or_never().is_none(), "it may still answer");
        time_is_up.send(()).unwrap();
        let gathered = gathering.await;
        let states: Vec<LibraryState> = gathered.iter().map(|gathered| gathered.state).collect();
        let (answered, late) = (LibraryState::Answered, LibraryState::Late);
        assert_eq!(states, [answered, late, answered, LibraryState::Failed]);
        let answers: Vec<u32> = gathered.iter().filter_map(|gathered| gathered.answer).collect();
        assert_eq!(answers, [1, 2]);
        assert!(gathered[3].error.is_some());
    }

    #[tokio::test]
    async fn answers_of_all_are_not_waited_upon() {
        let never_up = Box::pin(std::future::pending());
        let gathered = gather(answers(1), vec![answers(2)], never_up).now_or_never().unwrap();
        assert_eq!(gathered.len(), 2);
    }

    #[tokio::test]
    async fn the_open_library_is_waited_for_beyond_that_time() {
        let (tell, open) = when_told(1);
        let mut gathering = pin!(gather(open, vec![never()], Box::pin(async {})));
        assert!(gathering.as_mut().now_or_never().is_none());
        tell.send(()).unwrap();
        assert_eq!(gathering.await[0].answer, Some(1));
    }
}
